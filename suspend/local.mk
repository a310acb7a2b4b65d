# suspend

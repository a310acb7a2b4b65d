# computemgtd

# resume

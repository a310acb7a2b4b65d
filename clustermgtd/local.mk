# clustermgtd: the head node's daemon
EXTRA_DIST += %D%/clustermgtd.c %D%/observe.c %D%/observe.h %D%/stamp.c %D%/stamp.h %D%/notify.c %D%/notify.h %D%/wait.c %D%/wait.h

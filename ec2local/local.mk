# ec2local
pkglibexec_PROGRAMS += %D%/ec2local-machine
%C%_ec2local_machine_SOURCES = %D%/machine_main.c %D%/rootfs.c %D%/rootfs.h %D%/link.c %D%/link.h %D%/init.c %D%/init.h
%C%_ec2local_machine_LDADD = lib/base/libbase.a $(JSONC_LIBS)
dist_pkglibexec_SCRIPTS = %D%/ec2local-image
imagedir = $(pkglibexecdir)/image
dist_image_SCRIPTS = %D%/image/boot %D%/image/systemctl %D%/image/shutdown

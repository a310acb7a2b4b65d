# ec2local: an EC2 on one machine
pkglibexec_PROGRAMS += %D%/ec2local-machine
%C%_ec2local_machine_SOURCES = %D%/machine_main.c lib/base/sanitizer.c %D%/rootfs.c %D%/rootfs.h %D%/link.c %D%/link.h %D%/init.c %D%/init.h
%C%_ec2local_machine_LDADD = lib/base/libbase.a $(JSONC_LIBS)
dist_pkglibexec_SCRIPTS = %D%/ec2local-image
imagedir = $(pkglibexecdir)/image
dist_image_SCRIPTS = %D%/image/boot %D%/image/systemctl %D%/image/shutdown

# The server: all but main in a library, so that unit tests reach its parts.
noinst_LIBRARIES += %D%/libec2local.a
%C%_libec2local_a_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS)
%C%_libec2local_a_SOURCES = \
	%D%/api.c %D%/call.h %D%/cloud.c %D%/cloud.h %D%/control.c %D%/control_life.c %D%/control_set.h %D%/control_supply.c %D%/describe.c \
	%D%/describe.h %D%/faults.c %D%/faults.h %D%/fleet.c %D%/fleet.h %D%/http.h %D%/images.c %D%/images.h %D%/imds.c \
	%D%/index.c %D%/index.h %D%/instances.c %D%/instances.h %D%/launch.c %D%/launch.h %D%/machine.c %D%/machine.h \
	%D%/network.c %D%/network.h %D%/network_describe.c %D%/page.c %D%/page.h %D%/params.c %D%/params.h %D%/placement.c \
	%D%/placement.h %D%/policy.c %D%/policy.h %D%/quotas.c %D%/quotas.h %D%/reservations.c %D%/reservations.h %D%/run.c \
	%D%/run.h %D%/server.c %D%/server.h %D%/services.c %D%/services.h %D%/sigv4check.c %D%/sigv4check.h %D%/status.c %D%/sts.c \
	%D%/supply.c %D%/supply.h %D%/tags.c %D%/templates.c %D%/templates.h %D%/terminate.c %D%/types.c %D%/types.h %D%/xml.c \
	%D%/xml.h
libs_ec2local = %D%/libec2local.a lib/base/libbase.a $(MICROHTTPD_LIBS) $(OPENSSL_LIBS) $(JSONC_LIBS)
pkglibexec_PROGRAMS += %D%/ec2local
%C%_ec2local_SOURCES = %D%/ec2local.c lib/base/sanitizer.c
%C%_ec2local_LDADD = $(libs_ec2local)
dist_pkgdata_DATA += %D%/instance_types.json

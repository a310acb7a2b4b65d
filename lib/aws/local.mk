noinst_LIBRARIES += %D%/libaws.a
%C%_libaws_a_SOURCES = \
	%D%/aws.h %D%/ec2.h %D%/imds.h \
	%D%/sigv4.c %D%/sigv4.h %D%/query.c %D%/query.h %D%/reply.c %D%/reply.h %D%/reply_tree.c %D%/reply_tree.h %D%/page.h \
	%D%/classify.c %D%/bucket.c %D%/bucket.h %D%/bucket_share.c %D%/bucket_share.h %D%/rate.c \
	%D%/share.c %D%/share.h %D%/retry.c %D%/retry.h %D%/endpoint.c %D%/endpoint.h \
	%D%/call.c %D%/call.h %D%/ec2_instance.c %D%/ec2_console.c %D%/ec2_fleet.c %D%/fleet.h %D%/ec2_reservation.c %D%/ec2_overrides.c %D%/override.c \
	%D%/override.h %D%/members.c %D%/members.h %D%/ec2_type.c %D%/ec2_network.c %D%/ec2_image.c %D%/ec2_template.c \
	%D%/ec2_placement.c %D%/http.c %D%/http.h %D%/imds.c %D%/ini.c %D%/ini.h \
	%D%/credentials_chain.h %D%/credentials_profile.c %D%/credentials_role.c %D%/credentials_cache.c %D%/credentials_process.c \
	%D%/credentials_local.c %D%/credentials_sts.c %D%/secret.c %D%/secret.h %D%/sign.c %D%/sign.h %D%/service.c %D%/service.h \
	%D%/quotas.c %D%/quotas.h %D%/quota_code.c %D%/credentials.c %D%/credentials.h %D%/connection.c %D%/connection.h %D%/perform.c %D%/count.c %D%/count.h %D%/terminate.c

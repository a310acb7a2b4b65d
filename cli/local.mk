# cli: slurm-ec2, the command a person runs; one file a command
bin_PROGRAMS += %D%/slurm-ec2
%C%_slurm_ec2_SOURCES = %D%/slurm-ec2.c lib/base/sanitizer.c %D%/command.h \
	%D%/session.c %D%/session.h \
	%D%/secgroup.c %D%/secgroup.h %D%/image.c %D%/image.h \
	%D%/apply_job.h %D%/apply_here.c %D%/apply_resources.c %D%/apply_cloud.c %D%/apply_network.c %D%/apply_files.c %D%/apply_make.c \
	%D%/apply_scratch.c %D%/apply_install.c \
	%D%/interrupt.c %D%/interrupt.h %D%/trial_folder.c %D%/trial_folder.h \
	%D%/cmd_apply.c \
	%D%/cmd_check.c \
	%D%/overrides.c %D%/overrides.h \
	%D%/cmd_events.c \
	%D%/cmd_fleet.c %D%/fleet_view.c %D%/fleet_view.h %D%/fleet_wait.c %D%/fleet_wait.h \
	%D%/cmd_freeze.c \
	%D%/cmd_explain.c %D%/explain.h %D%/explain_read.c %D%/explain_node.c %D%/explain_job.c %D%/explain_next.c %D%/explain_text.c \
	%D%/cmd_limits.c %D%/limits.h %D%/limits_read.c %D%/limits_judge.c \
	%D%/cmd_plan.c \
	%D%/cmd_policy.c \
	%D%/cmd_render.c \
	%D%/text.c %D%/text.h %D%/look.h %D%/look_read.c %D%/look_judge.c \
	%D%/cmd_status.c %D%/status.h %D%/status_judge.c %D%/status_text.c %D%/status_json.c \
	%D%/cmd_uninstall.c \
	%D%/cmd_version.c
%C%_slurm_ec2_CPPFLAGS = $(AM_CPPFLAGS) -DSE_SLURM_VERSION='"$(SE_SLURM_VERSION)"'
%C%_slurm_ec2_LDADD = $(LIBS_ALL)

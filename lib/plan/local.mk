noinst_LIBRARIES += %D%/libplan.a
%C%_libplan_a_SOURCES = %D%/blocks.c %D%/blocks.h %D%/brake.c %D%/brake.h %D%/capacity.c %D%/capacity.h %D%/fleet.c %D%/fleet.h \
	%D%/invariants.c %D%/invariants.h %D%/node_rules.c %D%/node_rules.h %D%/node_rules_text.c \
	%D%/plan.c %D%/plan.h %D%/protect.c %D%/protect.h \
	%D%/reconcile.c %D%/reconcile.h \
	%D%/reconcile_launches.c %D%/reconcile_machines.c %D%/reconcile_nodes.c %D%/reconcile_untold.c %D%/reconcile_view.h \
	%D%/resume.c %D%/resume.h %D%/resume_answer.c %D%/resume_ask.c %D%/resume_memory.c %D%/resume_serve.c \
	%D%/resume_source.c %D%/resume_state.h

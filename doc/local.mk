# doc
dist_man_MANS += %D%/ec2local-machine.8
dist_man_MANS += %D%/computemgtd.8
dist_man_MANS += %D%/slurm-ec2-resume.8 %D%/slurm-ec2-suspend.8 %D%/clustermgtd.8
dist_man_MANS += %D%/slurm-ec2.1 %D%/slurm-ec2-cluster.5 %D%/slurm-ec2-settings.5
dist_man_MANS += %D%/ec2local.8 %D%/ec2local-image.8

# The table of clustermgtd(8) is made from the program; a unit test compares them.
man-table: clustermgtd/clustermgtd
	clustermgtd/clustermgtd --explain=man > man-table.tmp
	sed -i -e '/explain=man begins/r man-table.tmp' -e '/explain=man begins/,/explain=man ends/{/explain=man/!d}' $(srcdir)/doc/clustermgtd.8
	rm -f man-table.tmp
.PHONY: man-table

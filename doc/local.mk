# doc
dist_man_MANS += %D%/ec2local-machine.8
dist_man_MANS += %D%/computemgtd.8
dist_man_MANS += %D%/slurm-ec2-resume.8 %D%/slurm-ec2-suspend.8 %D%/clustermgtd.8
dist_man_MANS += %D%/slurm-ec2.1 %D%/slurm-ec2-cluster.5 %D%/slurm-ec2-settings.5
dist_man_MANS += %D%/ec2local.8 %D%/ec2local-image.8

# doc
dist_man_MANS += %D%/ec2local-machine.8
dist_man_MANS += %D%/computemgtd.8

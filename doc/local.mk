# doc
dist_man_MANS += %D%/ec2local-machine.8

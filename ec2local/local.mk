# ec2local

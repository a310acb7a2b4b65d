#!/bin/bash
#SBATCH --job-name=hellojob
#SBATCH --output=hellojob.out
sleep 5
echo "Hello World from $(hostname)"

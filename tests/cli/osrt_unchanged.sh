#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What unchanged.sh shows holds with every source on, every OS call recorded, however short, and a stack taken of each.
PROFILE_OPTIONS="-t cuda,nvtx,osrt,opencl,pytorch,python,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose --osrt-threshold 0 --osrt-backtrace-threshold 0"
source "$(dirname "$0")/unchanged.sh"

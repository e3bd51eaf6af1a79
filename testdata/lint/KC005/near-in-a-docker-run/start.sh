#!/bin/sh
docker run -d --name dns \
  -v "$PWD/Corefile:/Corefile" coredns/coredns:1.3.1 -conf /Corefile

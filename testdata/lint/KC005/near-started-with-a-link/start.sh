#!/bin/sh
docker run -d --link coredns:coredns coredns/coredns:1.3.1 -conf /Corefile

#!/bin/sh
docker run -d coredns/coredns:${COREDNS_VERSION} -conf /Corefile

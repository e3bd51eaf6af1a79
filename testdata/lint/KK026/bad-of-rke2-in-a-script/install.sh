#!/bin/sh
rke2 agent --resolvconf /etc/rke2.conf

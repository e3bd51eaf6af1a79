# Lets one nginx or HAProxy look names up, all at the same time, as it serves requests.
#
#   daemons.py nginx|haproxy PROGRAM SECONDS NAME...
#
# HAProxy also has a server for the first and the last name, whose addresses it asks for again and again.
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

FOLDER = "/run/lab/daemon"
SOCKET = FOLDER + "/socket"
HAPROXY = """global
    nbthread 1
    maxconn 2000
resolvers dns
    parse-resolv-conf
defaults
    mode http
    timeout client 1m
    timeout server 1m
    timeout connect 1s
frontend ask
    bind unix@%(folder)s/socket
    http-request do-resolve(txn.address,dns) req.fhdr(x-name)
    http-request return status 200 content-type text/plain lf-string "%%[var(txn.address)]"
backend back
    server first %(first)s:80 resolvers dns init-addr none
    server last %(last)s:80 resolvers dns init-addr none
"""
NGINX = """daemon off; master_process off; pid %(folder)s/pid; error_log %(folder)s/log;
events { worker_connections 2000; }
http {
    access_log off;
    client_body_temp_path %(folder)s/a; proxy_temp_path %(folder)s/b; fastcgi_temp_path %(folder)s/c;
    uwsgi_temp_path %(folder)s/d; scgi_temp_path %(folder)s/e;
    server {
        listen unix:%(folder)s/socket;
        location / { proxy_pass http://$http_x_name:1; proxy_connect_timeout 1s; resolver %(servers)s; }
    }
}
"""


def servers():
    with open("/etc/resolv.conf") as file:
        words = [line.split() for line in file]
    return " ".join(it[1] for it in words if it[:1] == ["nameserver"])


def ask(name):
    client = socket.socket(socket.AF_UNIX)
    client.connect(SOCKET)
    client.sendall(b"GET / HTTP/1.0\r\nX-Name: " + name.encode() + b"\r\n\r\n")
    while client.recv(65536):
        pass


which, program, seconds, *names = sys.argv[1:]
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
words = {"folder": FOLDER, "first": names[0], "last": names[-1], "servers": servers()}
with open(FOLDER + "/conf", "w") as file:
    file.write((HAPROXY if which == "haproxy" else NGINX) % words)
options = ["-db", "-f", FOLDER + "/conf"]
if which == "nginx":
    options = ["-c", FOLDER + "/conf", "-e", FOLDER + "/log", "-p", FOLDER]
with open(FOLDER + "/out", "w") as log:
    daemon = subprocess.Popen([program] + options, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
try:
    while not os.path.exists(SOCKET):
        if daemon.poll() is not None:
            sys.exit(open(FOLDER + "/out").read())
        time.sleep(0.01)
    time.sleep(0.1)
    threads = []
    for name in names:
        threads.append(threading.Thread(target=ask, args=[name]))
        threads[-1].start()
        time.sleep(0.004)
    for thread in threads:
        thread.join()
    time.sleep(float(seconds))
finally:
    daemon.kill()
    daemon.wait()

# Lets nginx look a name up as `proxy_pass http://$name` does, and prints how it ended as one line of JSON.
#
#   nginx.py NAME [FAMILY]   $PROGRAM is nginx, and begins anew; only A for inet
#
# The servers are those that the official image takes from resolv.conf. At the addresses that are found nobody listens,
# so that nginx tries them all, and tells them.
import json
import os
import re
import socket
import subprocess
import sys
import time

FOLDER = "/run/lab/nginx"
SOCKET = FOLDER + "/socket"
CONFIGURATION = """daemon off; master_process off; pid %(folder)s/pid; error_log %(folder)s/log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path %(folder)s/a; proxy_temp_path %(folder)s/b; fastcgi_temp_path %(folder)s/c;
    uwsgi_temp_path %(folder)s/d; scgi_temp_path %(folder)s/e;
    server {
        listen unix:%(folder)s/socket;
        location / {
            add_header X-Addresses $upstream_addr always;
            proxy_pass http://$http_x_name:1;
            resolver %(resolver)s;
        }
    }
}
"""


def finish(status, **more):
    print(json.dumps({"status": status, **more}), flush=True)
    os._exit(0)


def servers():
    awk = """BEGIN{ORS=" "} $1=="nameserver" {if ($2 ~ ":") {print "["$2"]"} else {print $2}}"""
    return subprocess.run(["awk", awk, "/etc/resolv.conf"], stdout=subprocess.PIPE).stdout.decode("latin-1")


def ask(daemon, name):
    client = socket.socket(socket.AF_UNIX)
    while True:
        try:
            client.connect(SOCKET)
            break
        except OSError:
            if daemon.poll() is not None:
                return None
            time.sleep(0.001)
    if ":" in name:
        name = "[" + name + "]"
    client.sendall(b"GET / HTTP/1.0\r\nX-Name: " + name.encode() + b"\r\n\r\n")
    reply = b""
    while part := client.recv(65536):
        reply += part
    return reply.decode("latin-1")


name, family = (sys.argv + ["unspec"])[1:3]
os.mkdir(FOLDER)
words = servers() + (" ipv6=off" if family == "inet" else "")
with open(FOLDER + "/conf", "w", encoding="latin-1") as file:
    file.write(CONFIGURATION % {"folder": FOLDER, "resolver": words})
program = [os.environ["PROGRAM"], "-c", FOLDER + "/conf", "-e", FOLDER + "/log", "-p", FOLDER]
nginx = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    reply = ask(nginx, name)
finally:
    nginx.kill()
    nginx.wait()
log = open(FOLDER + "/log", encoding="latin-1").read()
if reply is None:
    finish("error", code="CONFIG_ERROR", text=log)
addresses = re.search(r"^X-Addresses: (.*?)\r$", reply, re.M)
failure = re.search(r"could not be resolved \(\d+: (.*?)\)", log)
if failure:
    finish("error", code=failure[1])
if addresses:
    finish("ok", addrs=[it.strip().rsplit(":", 1)[0].strip("[]") for it in addresses[1].split(",")])
finish("error", code="BAD_NAME", text=log)

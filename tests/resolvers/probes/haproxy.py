# Lets HAProxy look a name up with do-resolve, and prints how it ended as one line of JSON.
#
#   haproxy.py NAME [FAMILY]   $PROGRAM is haproxy, and begins anew; A first for inet
import json
import os
import socket
import subprocess
import sys
import time

FOLDER = "/run/lab/haproxy"
SOCKET = FOLDER + "/socket"
CONFIGURATION = """global
    nbthread 1
    maxconn 8
resolvers dns
    parse-resolv-conf
frontend ask
    mode http
    timeout client 1m
    bind unix@%(folder)s/socket
    http-request do-resolve(txn.address,dns%(family)s) req.fhdr(x-name)
    http-request return status 200 content-type text/plain lf-string "%%[var(txn.address)]"
"""


def finish(status, **more):
    print(json.dumps({"status": status, **more}), flush=True)
    os._exit(0)


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
    client.sendall(b"GET / HTTP/1.0\r\nX-Name: " + name.encode() + b"\r\n\r\n")
    reply = b""
    while part := client.recv(65536):
        reply += part
    return reply.decode("latin-1")


name, family = (sys.argv + ["unspec"])[1:3]
os.mkdir(FOLDER)
with open(FOLDER + "/conf", "w") as file:
    file.write(CONFIGURATION % {"folder": FOLDER, "family": ",ipv4" if family == "inet" else ""})
program = [os.environ["PROGRAM"], "-db", "-f", FOLDER + "/conf"]
with open(FOLDER + "/log", "w") as log:
    haproxy = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
try:
    reply = ask(haproxy, name)
finally:
    haproxy.kill()
    haproxy.wait()
if reply is None:
    finish("error", code="CONFIG_ERROR", text=open(FOLDER + "/log", encoding="latin-1").read())
head, _, address = reply.partition("\r\n\r\n")
if not head.startswith("HTTP/1.1 200"):
    finish("error", code="BAD_NAME", text=head)
if address:
    finish("ok", addrs=[address])
finish("error", code="no address")

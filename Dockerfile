# kdns and nothing else, for a node's debug pod:
#
#   packaging/release
#   docker build --tag REGISTRY/kdns --file Dockerfile target/dist        (podman and buildah take the same words)
#   kubectl debug node/NODE -it --image=REGISTRY/kdns --profile=sysadmin -- kdns check-loop --root /host
#
# What follows `--` is the whole command: kubectl puts it in the place of the entry point, hence the word kdns.
FROM scratch
LABEL org.opencontainers.image.title="kdns" \
      org.opencontainers.image.description="Explains and checks resolv.conf and stub resolvers on Kubernetes nodes" \
      org.opencontainers.image.source="https://github.com/kdns-rs/kdns" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
ENV PATH=/usr/bin
COPY LICENSES.txt /usr/share/doc/kdns/
COPY kdns /usr/bin/kdns
# No USER: files of pods and the kubelet below /host are root's alone, and only root may enter a pod's network
# namespace. kdns drops what it does not need itself. `explain`, `lint` and `rule` run under any user.
ENTRYPOINT ["/usr/bin/kdns"]

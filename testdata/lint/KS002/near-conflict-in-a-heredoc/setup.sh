#!/bin/sh
cat > expected.txt <<'EOF'
<<<<<<< HEAD
a
=======
b
>>>>>>> other
EOF
cat > /etc/resolv.conf <<'EOF'
nameserver 10.0.0.1
EOF

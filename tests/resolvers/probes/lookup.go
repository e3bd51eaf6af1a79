// Asks Go's own resolver and prints how the lookup ended as one line of JSON.
//
//	lookup NAME [FAMILY]   net.LookupHost; with a FAMILY (inet or inet6) net.Resolver.LookupIP
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
)

func main() {
	name, family := os.Args[1], "unspec"
	if len(os.Args) > 2 {
		family = os.Args[2]
	}
	addrs := []string{}
	var err error
	if family == "unspec" {
		var got []string
		got, err = net.LookupHost(name)
		addrs = append(addrs, got...)
	} else {
		network := map[string]string{"inet": "ip4", "inet6": "ip6"}[family]
		var got []net.IP
		got, err = net.DefaultResolver.LookupIP(context.Background(), network, name)
		for _, ip := range got {
			addrs = append(addrs, ip.String())
		}
	}
	out := map[string]interface{}{"status": "ok", "addrs": addrs}
	if err != nil {
		text := err.Error()
		parts := strings.Split(text, ": ")
		out = map[string]interface{}{"status": "error", "text": text, "code": parts[len(parts)-1]}
		var e *net.DNSError
		if errors.As(err, &e) {
			out["not_found"], out["temporary"], out["timeout"], out["server"] = e.IsNotFound, e.IsTemporary, e.IsTimeout, e.Server
		}
	}
	json.NewEncoder(os.Stdout).Encode(out)
}

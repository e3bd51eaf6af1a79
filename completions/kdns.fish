# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kdns_global_optspecs
    string join \n color= h/help V/version
end

function __fish_kdns_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kdns_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kdns_using_subcommand
    set -l cmd (__fish_kdns_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kdns -n "__fish_kdns_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_needs_command" -s h -l help -d 'Print help'
complete -c kdns -n "__fish_kdns_needs_command" -s V -l version -d 'Print version'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "explain" -d 'Show the queries each stub resolver would send for a name, in order, and why'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "check-loop" -d 'Tell whether the DNS of this node loops, through which hop, and what mends it'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "upstream" -d 'Tell who owns each name server of this node, and where the real upstream servers are written'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "pod-file" -d 'Write the resolv.conf that the kubelet and the runtime would give a pod'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "pods" -d 'List the pods of this node with their network namespace and resolv.conf, also those that crash'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "nsenter" -d 'Ask servers, explain a name or run a command from inside a pod\'s network, with the pod\'s files'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "dig" -d 'Ask DNS servers as BIND\'s dig does'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "lint" -d 'Find what is wrong in resolv.conf files, kubelet settings, Corefiles and manifests'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "report" -d 'Put the reports of many nodes together'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "rule" -d 'Print a rule\'s page, or list the rules'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "schema" -d 'Print the JSON Schema of a machine format'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c kdns -n "__fish_kdns_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l scenario -d 'Read scenarios from this file, one JSON object or one a line; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l resolver -d 'Resolvers to explain: ids or short names, comma-separated, or all [default: the target\'s own, else glibc,musl,go]' -r -f -a "all\t''
glibc\t''
glibc-res_search\t''
glibc-res_query\t''
musl-1.2.3\t''
musl-1.2.5\t''
go-1.19\t''
go-1.27\t''
c-ares-1.18\t''
c-ares-1.18-search\t''
c-ares-1.34\t''
c-ares-1.34-search\t''
dig\t''
dig-search\t''
host\t''
nslookup\t''
busybox-nslookup\t''
systemd-resolved\t''
systemd-resolved-stub\t''
hickory-0.26\t''
musl\t''
go\t''
c-ares\t''
c-ares-search\t''
hickory\t''
resolved\t''
busybox\t''"
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l type -d 'Record types: A, AAAA, A,AAAA, or one other type, looked up as res_search would' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l answer -d 'Assume this answer; the first that fits counts, and without one a name does not exist' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l budget -d 'With --live: all lookups together take no longer' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l save-scenario -d 'Write the question as a scenario that others can replay; with --live also what was answered' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l format -d 'How to write the result; text without it' -r -f -a "text\t'For people'
json\t'One document; an array of documents for a file with several scenarios'
jsonl\t'One prediction a line'"
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l target -d 'Explain what this process, container or pod asks, with its own files and resolver' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l file -d 'Explain with this resolv.conf; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l root -d 'Read the machine below this directory [default: /]' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l namespace -d 'Explain what a ClusterFirst pod of this namespace would ask' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l pod -d 'Explain what the pod of this manifest would ask; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l cluster-dns -d 'The cluster\'s DNS address [default: 10.96.0.10]' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l cluster-domain -d 'The cluster\'s domain [default: cluster.local]' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l env -d 'Environment variable of the program: LOCALDOMAIN, RES_OPTIONS, HOSTALIASES' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l hostname -d 'Host name of the machine' -r
complete -c kdns -n "__fish_kdns_using_subcommand explain" -l live -d 'Really ask, as each resolver does, and show what comes back'
complete -c kdns -n "__fish_kdns_using_subcommand explain" -s v -l verbose -d 'More detail'
complete -c kdns -n "__fish_kdns_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l log -d 'Look for a loop in this log of a DNS server too; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l node-name -d 'The node\'s name in json and jsonl [default: `NODE_NAME`, else the host name]' -r
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l fail-on -d 'End with status 1 if there is a finding of this level or a worse one' -r -f -a "info\t'Worth knowing'
warning\t'It can go wrong'
error\t'It is wrong'"
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l format -d 'How to write the result; text without it' -r -f -a "text\t'For people'
json\t'One document'
jsonl\t'The same document on one line, for logs and kdns report merge'
concise\t'One message a line, as compilers write them'
sarif\t'SARIF 2.1.0'
github\t'Workflow commands of GitHub Actions'
junit\t'`JUnit` XML'
npd\t'One line for node-problem-detector'
prometheus\t'A textfile for `node_exporter`'"
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l root -d 'Read the node below this directory [default: /]' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l node-file -d 'Take this for the file that the kubelet\'s resolvConf names; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l kubelet-config -d 'Take this for the kubelet\'s configuration file; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l corefile -d 'Take this for the Corefile; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l probe -d 'Also send a few queries with random names to the node\'s DNS servers and watch whether they come back; takes up to 10 seconds and needs root'
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -l exit-zero -d 'End with status 0 whatever is found'
complete -c kdns -n "__fish_kdns_using_subcommand check-loop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l fail-on -d 'End with status 1 if there is a finding of this level or a worse one' -r -f -a "info\t'Worth knowing'
warning\t'It can go wrong'
error\t'It is wrong'"
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l format -d 'How to write the result; text without it' -r -f -a "text\t'For people'
json\t'One document'"
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l root -d 'Read the node below this directory [default: /]' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l node-file -d 'Take this for the file that the kubelet\'s resolvConf names; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l kubelet-config -d 'Take this for the kubelet\'s configuration file; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l corefile -d 'Take this for the Corefile; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -l exit-zero -d 'End with status 0 whatever is found'
complete -c kdns -n "__fish_kdns_using_subcommand upstream" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l fail-on -d 'End with status 1 if there is a finding of this level or a worse one' -r -f -a "info\t'Worth knowing'
warning\t'It can go wrong'
error\t'It is wrong'"
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l format -d 'How to write the result; text without it' -r -f -a "text\t'The file\'s bytes and nothing else'
json\t'One document: the file, what did not fit, the events'"
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l policy -d 'The pod\'s dnsPolicy [default: that of the manifest, or ClusterFirst]' -r -f -a "ClusterFirst\t''
ClusterFirstWithHostNet\t''
Default\t''
None\t''"
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l namespace -d 'The pod\'s namespace [default: that of the manifest, or default]' -r
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l pod -d 'Take the pod of this manifest, YAML or JSON; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l kubelet-version -d 'The kubelet\'s version, as in 1.29.3 [default: the node\'s, or the newest]' -r
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l kubelet-arg -d 'An argument of the kubelet, stronger than files; may be repeated' -r
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l runtime -d 'containerd, cri-o or docker, with a version if that matters, as in containerd@1.6.20 [default: the one that the kubelet\'s arguments name, or the newest containerd]' -r
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l cluster-dns -d 'The cluster\'s DNS address, whatever the kubelet\'s settings are' -r
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l cluster-domain -d 'The cluster\'s domain, whatever the kubelet\'s settings are' -r
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l host-file -d 'Take this for the node\'s own /etc/resolv.conf, which some runtimes copy; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l root -d 'Read the node below this directory [default: /]' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l node-file -d 'Take this for the file that the kubelet\'s resolvConf names; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l kubelet-config -d 'Take this for the kubelet\'s configuration file; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l corefile -d 'Take this for the Corefile; - is standard input' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l exit-zero -d 'End with status 0 whatever is found'
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -l host-network -d 'The pod is on the node\'s network, whatever the manifest says'
complete -c kdns -n "__fish_kdns_using_subcommand pod-file" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand pods" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand pods" -l root -d 'Read the node below this directory [default: /]' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pods" -l fail-on -d 'End with status 1 if there is a finding of this level or a worse one' -r -f -a "info\t'Worth knowing'
warning\t'It can go wrong'
error\t'It is wrong'"
complete -c kdns -n "__fish_kdns_using_subcommand pods" -l format -d 'How to write the result; text without it' -r -f -a "text\t'For people'
json\t'One document'"
complete -c kdns -n "__fish_kdns_using_subcommand pods" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand pods" -l exit-zero -d 'End with status 0 whatever is found'
complete -c kdns -n "__fish_kdns_using_subcommand pods" -s v -l verbose -d 'More detail: uid, processes, paths, containers'
complete -c kdns -n "__fish_kdns_using_subcommand pods" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand nsenter" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand nsenter" -s h -l help -d 'Print help'
complete -c kdns -n "__fish_kdns_using_subcommand dig" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l stdin-filename -d 'What - is called, which tells its kind' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l select -d 'Only these rules: codes, beginnings of codes, names' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l ignore -d 'Not these rules: codes, beginnings of codes, names' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l fail-on -d 'From which severity on findings make the status 1: error, warning or info [default: warning]' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l config -d 'Take the settings from this file and not from the nearest kdns.toml upwards' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l kubelet-version -d 'The kubelets\' version' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l coredns-version -d 'CoreDNS\'s version' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l cluster-dns -d 'The addresses of the cluster\'s DNS' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l cluster-domain -d 'The cluster\'s domain' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l pod-cidr -d 'The networks of the pods' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l assume -d 'What the nodes are like: systemd-resolved or none' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l role -d 'What every resolv.conf is: node, kubelet or pod' -r
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l node-file -d 'Take this for the file that the kubelet\'s resolvConf names' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l root -d 'Also lint the node below this directory' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l format -d 'How to write the result; text without it' -r -f -a "text\t'For people, with the lines'
concise\t'One finding a line, as compilers write them'
json\t'One document'
sarif\t'SARIF 2.1.0, as GitHub\'s code scanning reads it'
github\t'Workflow commands of GitHub Actions, which make annotations'
junit\t'`JUnit` XML'"
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l fix -d 'Mend what has one safe mend'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l diff -d 'Show what --fix would change, and change nothing'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l exit-zero -d 'End with status 0 whatever is found'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l allow-empty -d 'End with status 0 if there is nothing to read'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l statistics -d 'Count the findings of each rule in place of showing them, in text and concise'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l show-settings -d 'Show what --config, options and defaults come to, and end'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -l node -d 'Also lint this node'
complete -c kdns -n "__fish_kdns_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand report; and not __fish_seen_subcommand_from merge help" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand report; and not __fish_seen_subcommand_from merge help" -s h -l help -d 'Print help'
complete -c kdns -n "__fish_kdns_using_subcommand report; and not __fish_seen_subcommand_from merge help" -f -a "merge" -d 'Tell which nodes are alike, what differs between them, and who is the odd one out'
complete -c kdns -n "__fish_kdns_using_subcommand report; and not __fish_seen_subcommand_from merge help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from merge" -l fail-on -d 'End with status 1 if there is a finding of this level or a worse one' -r -f -a "info\t'Worth knowing'
warning\t'It can go wrong'
error\t'It is wrong'"
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from merge" -l format -d 'How to write the result; text without it' -r -f -a "text\t'For people'
json\t'One document'"
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from merge" -l output -d 'Write to this file, whole or not at all, in the format before it; - is standard output' -r -F
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from merge" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from merge" -l exit-zero -d 'End with status 0 whatever is found'
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from help" -f -a "merge" -d 'Tell which nodes are alike, what differs between them, and who is the odd one out'
complete -c kdns -n "__fish_kdns_using_subcommand report; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kdns -n "__fish_kdns_using_subcommand rule" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand rule" -l format -d 'How to write it' -r -f -a "text\t'For people'
json\t'A list with one object for each rule'"
complete -c kdns -n "__fish_kdns_using_subcommand rule" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand schema" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kdns -n "__fish_kdns_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kdns -n "__fish_kdns_using_subcommand completions" -s h -l help -d 'Print help'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "explain" -d 'Show the queries each stub resolver would send for a name, in order, and why'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "check-loop" -d 'Tell whether the DNS of this node loops, through which hop, and what mends it'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "upstream" -d 'Tell who owns each name server of this node, and where the real upstream servers are written'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "pod-file" -d 'Write the resolv.conf that the kubelet and the runtime would give a pod'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "pods" -d 'List the pods of this node with their network namespace and resolv.conf, also those that crash'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "nsenter" -d 'Ask servers, explain a name or run a command from inside a pod\'s network, with the pod\'s files'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "dig" -d 'Ask DNS servers as BIND\'s dig does'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "lint" -d 'Find what is wrong in resolv.conf files, kubelet settings, Corefiles and manifests'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "report" -d 'Put the reports of many nodes together'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "rule" -d 'Print a rule\'s page, or list the rules'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "schema" -d 'Print the JSON Schema of a machine format'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "completions" -d 'Print the completion script of a shell'
complete -c kdns -n "__fish_kdns_using_subcommand help; and not __fish_seen_subcommand_from explain check-loop upstream pod-file pods nsenter dig lint report rule schema completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'

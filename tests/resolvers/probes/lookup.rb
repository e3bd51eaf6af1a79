# Asks Ruby's Resolv and prints how the lookup ended as one line of JSON.
#
#   lookup.rb getaddress|getaddresses NAME [FAMILY]   with inet and inet6 Resolv::DNS#getresources for A and AAAA
#                                                 - for NAME: those on standard input, one after the other
require "json"
require "resolv"

call, name, family = ARGV
type = { "inet" => Resolv::DNS::Resource::IN::A, "inet6" => Resolv::DNS::Resource::IN::AAAA }[family]
names = name == "-" ? $stdin.read.split : [name]
names.each do |name|
  begin
    addrs =
      if type
        Resolv::DNS.new.getresources(name, type).map { |it| it.address.to_s }
      elsif call == "getaddress"
        [Resolv.getaddress(name)]
      else
        Resolv.getaddresses(name)
      end
    outcome = addrs.empty? ? { status: "error", code: "no address" } : { status: "ok", addrs: addrs }
  rescue Resolv::ResolvError => error
    outcome = { status: "error", code: "no address", text: error.message }
  rescue StandardError => error
    outcome = { status: "error", code: error.class.name, text: error.message }
  end
  puts JSON.generate(outcome)
end

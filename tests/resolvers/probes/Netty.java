// Asks Netty's DnsNameResolver and prints how the lookup ended as one line of JSON.
//
//   Netty NAME [FAMILY]   resolveAll; with TCP, as Vert.x and Reactor Netty have it; - for NAME: those on standard input, one after
//                         the other

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

class Netty {
    public static void main(String[] words) {
        String family = words.length > 1 ? words[1] : "unspec";
        try {
            DnsNameResolverBuilder builder = new DnsNameResolverBuilder(new NioEventLoopGroup(1).next())
                .channelType(NioDatagramChannel.class)
                .socketChannelType(NioSocketChannel.class);
            if (family.equals("inet")) builder.resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY);
            if (family.equals("inet6")) builder.resolvedAddressTypes(ResolvedAddressTypes.IPV6_ONLY);
            DnsNameResolver resolver = builder.build();
            Stream<String> names = words[0].equals("-") ? new BufferedReader(new InputStreamReader(System.in)).lines() : Stream.of(words[0]);
            names.forEach(name -> ask(resolver, name));
        } catch (Throwable error) {
            print(error);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void ask(DnsNameResolver resolver, String name) {
        try {
            List<InetAddress> found = resolver.resolveAll(name).sync().getNow();
            String addresses = found.stream().map(it -> "\"" + it.getHostAddress() + "\"").collect(Collectors.joining(", "));
            System.out.println("{\"status\": \"ok\", \"addrs\": [" + addresses + "]}");
        } catch (Throwable error) {
            print(error);
        }
    }

    private static void print(Throwable error) {
        String rest = "\"code\": \"" + error.getClass().getSimpleName() + "\", \"text\": \"" + escaped(error.getMessage()) + "\"";
        System.out.println("{\"status\": \"error\", " + rest + "}");
    }

    private static String escaped(String text) {
        return String.valueOf(text).chars()
            .mapToObj(it -> it < ' ' || it == '"' || it == '\\' || it > '~' ? String.format("\\u%04x", it) : String.valueOf((char) it))
            .collect(Collectors.joining());
    }
}

// Asks Netty's DnsNameResolver and prints how the lookup ended as one line of JSON.
//
//   Netty NAME [FAMILY]   resolveAll; with TCP, as Vert.x and Reactor Netty have it

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Collectors;

class Netty {
    public static void main(String[] words) {
        String family = words.length > 1 ? words[1] : "unspec";
        try {
            DnsNameResolverBuilder builder = new DnsNameResolverBuilder(new NioEventLoopGroup(1).next())
                .channelType(NioDatagramChannel.class)
                .socketChannelType(NioSocketChannel.class);
            if (family.equals("inet")) builder.resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY);
            if (family.equals("inet6")) builder.resolvedAddressTypes(ResolvedAddressTypes.IPV6_ONLY);
            List<InetAddress> found = builder.build().resolveAll(words[0]).sync().getNow();
            String addresses = found.stream().map(it -> "\"" + it.getHostAddress() + "\"").collect(Collectors.joining(", "));
            finish("\"ok\", \"addrs\": [" + addresses + "]");
        } catch (Throwable error) {
            finish("\"error\", \"code\": \"" + error.getClass().getSimpleName() + "\", \"text\": \"" + escaped(error.getMessage()) + "\"");
        }
    }

    private static String escaped(String text) {
        return String.valueOf(text).chars()
            .mapToObj(it -> it < ' ' || it == '"' || it == '\\' || it > '~' ? String.format("\\u%04x", it) : String.valueOf((char) it))
            .collect(Collectors.joining());
    }

    private static void finish(String rest) {
        System.out.println("{\"status\": " + rest + "}");
        Runtime.getRuntime().halt(0);
    }
}

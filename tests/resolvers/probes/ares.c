/*
 * Asks c-ares, 1.17 to 1.34 as linked, and prints how the lookup ended as one line of JSON.
 *
 *   ares getaddrinfo NAME [FAMILY]   FAMILY: unspec, inet or inet6
 *   ares search NAME                 type A
 *   ares query NAME [FAMILY]         type A, or AAAA for inet6
 */
#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>

static int done;

static const char *code(int status) {
    static const char *const names[] = {
        "ARES_SUCCESS", "ARES_ENODATA", "ARES_EFORMERR", "ARES_ESERVFAIL", "ARES_ENOTFOUND", "ARES_ENOTIMP", "ARES_EREFUSED",
        "ARES_EBADQUERY", "ARES_EBADNAME", "ARES_EBADFAMILY", "ARES_EBADRESP", "ARES_ECONNREFUSED", "ARES_ETIMEOUT", "ARES_EOF",
        "ARES_EFILE", "ARES_ENOMEM", "ARES_EDESTRUCTION", "ARES_EBADSTR", "ARES_EBADFLAGS", "ARES_ENONAME", "ARES_EBADHINTS",
        "ARES_ENOTINITIALIZED", "ARES_ELOADIPHLPAPI", "ARES_EADDRGETNETWORKPARAMS", "ARES_ECANCELLED", "ARES_ESERVICE",
        "ARES_ENOSERVER"};
    return status >= 0 && status < (int)(sizeof names / sizeof *names) ? names[status] : "ARES_OTHER";
}

static void failure(int status) {
    printf("{\"status\":\"error\",\"code\":\"%s\",\"text\":\"%s\"}\n", code(status), ares_strerror(status));
}

static void got_addrinfo(void *arg, int status, int timeouts, struct ares_addrinfo *list) {
    const char *comma = "";
    (void)arg, (void)timeouts;
    done = 1;
    if (status != ARES_SUCCESS) {
        failure(status);
        return;
    }
    printf("{\"status\":\"ok\",\"addrs\":[");
    for (struct ares_addrinfo_node *a = list->nodes; a; a = a->ai_next) {
        char text[INET6_ADDRSTRLEN];
        const void *raw = a->ai_family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)a->ai_addr)->sin6_addr
                                                   : (const void *)&((struct sockaddr_in *)a->ai_addr)->sin_addr;
        printf("%s\"%s\"", comma, inet_ntop(a->ai_family, raw, text, sizeof text));
        comma = ",";
    }
    printf("]}\n");
    ares_freeaddrinfo(list);
}

static void got_answer(void *arg, int status, int timeouts, unsigned char *answer, int n) {
    const char *comma = "";
    ns_msg msg;
    ns_rr rr;
    (void)arg, (void)timeouts;
    done = 1;
    if (status != ARES_SUCCESS) {
        failure(status);
        return;
    }
    printf("{\"status\":\"ok\",\"addrs\":[");
    if (ns_initparse(answer, n, &msg) == 0)
        for (int i = 0; i < ns_msg_count(msg, ns_s_an); i++) {
            char text[INET6_ADDRSTRLEN];
            if (ns_parserr(&msg, ns_s_an, i, &rr) || (ns_rr_type(rr) != ns_t_a && ns_rr_type(rr) != ns_t_aaaa))
                continue;
            int family = ns_rr_rdlen(rr) == 4 ? AF_INET : AF_INET6;
            printf("%s\"%s\"", comma, inet_ntop(family, ns_rr_rdata(rr), text, sizeof text));
            comma = ",";
        }
    printf("]}\n");
}

int main(int argc, char **argv) {
    ares_channel channel;
    int status;

    if (argc < 3)
        return 64;
    if ((status = ares_library_init(ARES_LIB_INIT_ALL)) || (status = ares_init(&channel))) {
        failure(status);
        return 0;
    }
    if (!strcmp(argv[1], "getaddrinfo")) {
        struct ares_addrinfo_hints hints;
        const char *family = argc > 3 ? argv[3] : "unspec";
        memset(&hints, 0, sizeof hints);
        hints.ai_family = !strcmp(family, "inet") ? AF_INET : !strcmp(family, "inet6") ? AF_INET6 : AF_UNSPEC;
        ares_getaddrinfo(channel, argv[2], NULL, &hints, got_addrinfo, NULL);
    } else if (!strcmp(argv[1], "query")) {
        int type = argc > 3 && !strcmp(argv[3], "inet6") ? T_AAAA : T_A;
        ares_query(channel, argv[2], C_IN, type, got_answer, NULL);
    } else {
        ares_search(channel, argv[2], C_IN, T_A, got_answer, NULL);
    }
    while (!done) {
        struct timeval wait, *tv;
        fd_set r, w;
        FD_ZERO(&r);
        FD_ZERO(&w);
        int n = ares_fds(channel, &r, &w);
        tv = ares_timeout(channel, NULL, &wait);
        if (n == 0 && !tv)
            break;
        if (select(n, &r, &w, NULL, tv) < 0)
            break;
        ares_process(channel, &r, &w);
    }
    fflush(stdout);
    ares_destroy(channel);
    return 0;
}

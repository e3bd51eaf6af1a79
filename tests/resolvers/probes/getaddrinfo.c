/*
 * Asks the C library that this program is linked with, and prints how the lookup ended as one line of JSON.
 *
 *   getaddrinfo getaddrinfo NAME [FAMILY [FLAGS]]   FAMILY: unspec, inet or inet6; SOCK_STREAM; FLAGS: a number
 *   getaddrinfo res_search|res_query NAME           type A; not with musl, whose res_search does not search
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#ifdef __GLIBC__
#include <arpa/nameser.h>
#include <resolv.h>
#endif

static const char *eai_code(int e) {
    switch (e) {
    case EAI_BADFLAGS: return "EAI_BADFLAGS";
    case EAI_NONAME: return "EAI_NONAME";
    case EAI_AGAIN: return "EAI_AGAIN";
    case EAI_FAIL: return "EAI_FAIL";
    case EAI_FAMILY: return "EAI_FAMILY";
    case EAI_SOCKTYPE: return "EAI_SOCKTYPE";
    case EAI_SERVICE: return "EAI_SERVICE";
    case EAI_MEMORY: return "EAI_MEMORY";
    case EAI_SYSTEM: return "EAI_SYSTEM";
    case EAI_OVERFLOW: return "EAI_OVERFLOW";
    case -5: return "EAI_NODATA";
    case -9: return "EAI_ADDRFAMILY";
    case -105: return "EAI_IDN_ENCODE";
    default: return "EAI_OTHER";
    }
}

static void failure(const char *code, const char *text) {
    printf("{\"status\":\"error\",\"code\":\"%s\",\"text\":\"%s\"}\n", code, text);
}

static int by_getaddrinfo(const char *name, const char *family, const char *flags) {
    struct addrinfo hints, *list, *a;
    char text[INET6_ADDRSTRLEN];
    const char *comma = "";

    memset(&hints, 0, sizeof hints);
    hints.ai_family = !strcmp(family, "inet") ? AF_INET : !strcmp(family, "inet6") ? AF_INET6 : AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = atoi(flags);
    int e = getaddrinfo(name, NULL, &hints, &list);
    if (e) {
        failure(eai_code(e), gai_strerror(e));
        return 0;
    }
    printf("{\"status\":\"ok\",\"addrs\":[");
    for (a = list; a; a = a->ai_next) {
        const void *raw = a->ai_family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)a->ai_addr)->sin6_addr
                                                   : (const void *)&((struct sockaddr_in *)a->ai_addr)->sin_addr;
        inet_ntop(a->ai_family, raw, text, sizeof text);
        printf("%s\"%s\"", comma, text);
        comma = ",";
    }
    printf("]}\n");
    freeaddrinfo(list);
    return 0;
}

#ifdef __GLIBC__
static const char *h_code(int e) {
    switch (e) {
    case HOST_NOT_FOUND: return "HOST_NOT_FOUND";
    case TRY_AGAIN: return "TRY_AGAIN";
    case NO_RECOVERY: return "NO_RECOVERY";
    case NO_DATA: return "NO_DATA";
    default: return "NETDB_INTERNAL";
    }
}

static int by_res(int search, const char *name) {
    static unsigned char answer[65536];
    const char *comma = "";
    ns_msg msg;
    ns_rr rr;

    int n = search ? res_search(name, C_IN, T_A, answer, sizeof answer) : res_query(name, C_IN, T_A, answer, sizeof answer);
    if (n < 0) {
        failure(h_code(h_errno), hstrerror(h_errno));
        return 0;
    }
    printf("{\"status\":\"ok\",\"addrs\":[");
    if (ns_initparse(answer, n, &msg) == 0)
        for (int i = 0; i < ns_msg_count(msg, ns_s_an); i++) {
            char text[INET_ADDRSTRLEN];
            if (ns_parserr(&msg, ns_s_an, i, &rr) || ns_rr_type(rr) != ns_t_a || ns_rr_rdlen(rr) != 4)
                continue;
            printf("%s\"%s\"", comma, inet_ntop(AF_INET, ns_rr_rdata(rr), text, sizeof text));
            comma = ",";
        }
    printf("]}\n");
    return 0;
}
#endif

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    if (!strcmp(argv[1], "getaddrinfo"))
        return by_getaddrinfo(argv[2], argc > 3 ? argv[3] : "unspec", argc > 4 ? argv[4] : "0");
#ifdef __GLIBC__
    if (!strcmp(argv[1], "res_search") || !strcmp(argv[1], "res_query"))
        return by_res(!strcmp(argv[1], "res_search"), argv[2]);
#endif
    return 64;
}

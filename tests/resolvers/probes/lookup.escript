#!/usr/bin/env escript
%% Asks Erlang's inet_res and prints how the lookup ended as one line of JSON.
%%
%%   lookup.escript getbyname|resolve NAME [FAMILY]   type A, or AAAA for inet6; - for NAME: those on standard input, one after the other

main([Call, Name]) -> main([Call, Name, "unspec"]);
main([Call, Name, Family]) ->
    %% Lines that are skipped are told on standard output.
    logger:set_primary_config(level, none),
    Type = case Family of "inet6" -> aaaa; _ -> a end,
    [print(try ask(Call, It, Type) catch _:Error -> {error, {crash, Error}} end) || It <- names(Name)].

names("-") ->
    case io:get_line("") of
        eof -> [];
        Line -> [string:trim(Line) | names("-")]
    end;
names(Name) -> [Name].

ask("getbyname", Name, Type) ->
    case inet_res:getbyname(Name, Type) of
        {ok, {hostent, _, _, _, _, Found}} -> {ok, Found};
        Error -> Error
    end;
ask("resolve", Name, Type) ->
    case inet_res:resolve(Name, in, Type) of
        {ok, Message} ->
            Answers = [inet_dns:rr(Record) || Record <- inet_dns:msg(Message, anlist)],
            {ok, [proplists:get_value(data, It) || It <- Answers, proplists:get_value(type, It) =:= Type]};
        Error -> Error
    end.

print({ok, []}) -> io:put_chars("{\"status\": \"error\", \"code\": \"no address\"}\n");
print({ok, Found}) ->
    Texts = ["\"" ++ inet:ntoa(Address) ++ "\"" || Address <- Found],
    io:put_chars(["{\"status\": \"ok\", \"addrs\": [", lists:join(", ", Texts), "]}\n"]);
print({error, {crash, _}}) -> io:put_chars("{\"status\": \"error\", \"code\": \"crash\"}\n");
print({error, {Reason, _}}) -> print({error, Reason});
print({error, Reason}) -> io:format("{\"status\": \"error\", \"code\": \"~s\"}~n", [Reason]).

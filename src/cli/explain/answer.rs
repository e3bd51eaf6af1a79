//! `--answer NAME[/TYPE][@SERVER]=REPLY`.

use std::net::IpAddr;

use hickory_proto::rr::RecordType;

use crate::engine::message::Rcode;
use crate::name::Name;
use crate::scenario::record_type;
use crate::world::{Effect, Rule};

/// Reads a rule from the command line.
pub(super) fn parse(text: &str) -> Result<Rule, String> {
    let (question, reply) = text
        .rsplit_once('=')
        .ok_or("write NAME=REPLY or NAME/TYPE=REPLY, as in db.example.com/AAAA=SERVFAIL")?;
    let (question, server) = match question.rsplit_once('@') {
        Some((question, server)) => {
            let ip = server.parse();
            (
                question,
                Some(ip.map_err(|_| format!("`{server}` is no address of a server"))?),
            )
        }
        None => (question, None),
    };
    let (name, record_type) = match question.rsplit_once('/') {
        Some((name, record_type)) => (name, Some(parse_type(record_type)?)),
        None => (question, None),
    };
    let name = name
        .strip_suffix('.')
        .filter(|it| !it.is_empty())
        .unwrap_or(name);
    Ok(Rule {
        name: Some(name.to_owned()),
        record_type,
        server,
        effect: parse_reply(reply)?,
        ..Rule::default()
    })
}

/// Reads a record type, in any case.
pub(super) fn parse_type(text: &str) -> Result<RecordType, String> {
    record_type::parse(text)
        .ok_or_else(|| format!("`{text}` is no record type; A, AAAA, MX or TYPE65 would be"))
}

fn parse_reply(text: &str) -> Result<Effect, String> {
    Ok(match text.to_ascii_uppercase().as_str() {
        "NXDOMAIN" => Effect::Status(Rcode::NxDomain),
        "NODATA" => Effect::Status(Rcode::NoError),
        "SERVFAIL" => Effect::Status(Rcode::ServFail),
        "REFUSED" => Effect::Status(Rcode::Refused),
        "FORMERR" => Effect::Status(Rcode::FormErr),
        "NOTIMP" => Effect::Status(Rcode::NotImp),
        "TIMEOUT" => Effect::Timeout,
        "TC" => Effect::Truncated,
        "FIN" => Effect::Fin,
        "RST" | "CLOSE" => Effect::Reset,
        "ICMP" => Effect::Icmp,
        "UNREACHABLE" => Effect::Unreachable,
        _ => parse_records(text)?,
    })
}

/// Addresses and a `CNAME:TARGET`, separated by commas.
fn parse_records(text: &str) -> Result<Effect, String> {
    let (mut a, mut aaaa, mut cname) = (Vec::new(), Vec::new(), None);
    for word in text.split(',') {
        if let Some(target) = word
            .strip_prefix("CNAME:")
            .or_else(|| word.strip_prefix("cname:"))
        {
            let target = Name::from_master_file(target.as_bytes());
            cname = Some(target.map_err(|error| format!("`{word}`: {error}"))?);
            continue;
        }
        match word.parse() {
            Ok(IpAddr::V4(ip)) => a.push(ip),
            Ok(IpAddr::V6(ip)) => aaaa.push(ip),
            Err(_) => {
                return Err(format!(
                    "`{word}` is no reply; write an address, CNAME:NAME, NXDOMAIN, NODATA, SERVFAIL, \
                     REFUSED, FORMERR, NOTIMP, TIMEOUT, TC, FIN, RST, ICMP or UNREACHABLE"
                ));
            }
        }
    }
    Ok(Effect::Answer { a, aaaa, cname })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_rules() {
        let rule = parse("db.a.test./aaaa=servfail").unwrap();
        assert_eq!(rule.name.as_deref(), Some("db.a.test"));
        assert_eq!(rule.record_type, Some(RecordType::AAAA));
        assert_eq!(rule.effect, Effect::Status(Rcode::ServFail));
        let rule = parse("*=192.0.2.1,2001:db8::1,CNAME:real.test").unwrap();
        assert!(
            matches!(rule.effect, Effect::Answer { a, aaaa, cname: Some(_) } if a.len() == 1 && aaaa.len() == 1)
        );
        let rule = parse("*/A@10.0.0.2=NXDOMAIN").unwrap();
        assert_eq!(rule.server, Some([10, 0, 0, 2].into()));
        assert!(parse("db@dns=NXDOMAIN").unwrap_err().contains("`dns`"));
        assert!(parse("db").unwrap_err().contains("NAME=REPLY"));
        assert!(parse("db=NOPE").unwrap_err().contains("`NOPE` is no reply"));
        assert!(
            parse("db/XX=NODATA")
                .unwrap_err()
                .contains("no record type")
        );
    }
}

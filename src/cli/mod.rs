//! Arguments in, the route of each command, exit status out.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};

use crate::{render, resolver, scenario};

/// temporary
pub fn run(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write) -> u8 {
    let args: Vec<String> = args
        .into_iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let value = |flag: &str| {
        args.iter()
            .position(|arg| arg == flag)
            .and_then(|at| args.get(at + 1))
    };
    let Some(file) = value("--scenario") else {
        return 2;
    };
    let wanted = value("--resolver").map_or("all", String::as_str);
    let Ok(file) = std::fs::File::open(file) else {
        return 2;
    };
    let mut status = 0;
    for (index, line) in BufReader::new(file)
        .lines()
        .map_while(Result::ok)
        .enumerate()
    {
        match scenario::json::parse(line.as_bytes(), &(index + 1).to_string()) {
            Ok(scenario) => {
                for resolver in resolver::ALL {
                    if wanted == "all"
                        || wanted
                            .split(',')
                            .any(|id| resolver::find(id).is_some_and(|it| it.id == resolver.id))
                    {
                        let run = resolver.predict(&scenario);
                        let _ = render::prediction::line(&scenario.id, resolver, &run, out);
                    }
                }
            }
            Err(error) => {
                let _ = writeln!(out, "{error}");
                status = 2;
            }
        }
    }
    status
}

//! What sets a kubelet's flags: units, their drop-ins, files of variables,
//! arguments of snaps, command lines.

use kdns::config::traced::{Traced, place};
use kdns::config::unit_file::{self, Escapes, Service, Unset};
use kdns::config::{env_file, ini};
use kdns::kubelet::{self, distribution, flags, rancher, version};
use kdns::pod::Remark;
use kdns::render::pod_file::words;
use kdns::text::Source;

use super::{inside, possible, printable, source, texts};

/// Texts: a unit, a drop-in for it, a file of variables, arguments with blanks
/// between them.
pub(crate) fn run(data: &[u8]) {
    let files: Vec<_> = texts(data).take(4).map(|it| source("f", it)).collect();
    let bytes = |index: usize| files.get(index).map_or(&[][..], |it| &it.bytes);
    let mut entries = unit_file::entries(bytes(0), 0);
    entries.extend(unit_file::entries(bytes(1), 1));
    for entry in &entries {
        traced(&entry.value, &files);
    }
    let service = Service::of_entries(&entries);
    let mut environment = service.environment.clone();
    for variable in env_file::variables(bytes(2), 2) {
        traced(&variable.value, &files);
        environment.push((variable.name, variable.value));
    }
    for start in &service.exec_start {
        let command = unit_file::command(start, &environment, Unset::Kept);
        for word in &command {
            traced(word, &files);
            assert!(word.bytes().len() <= unit_file::MAX_ARGUMENT + start.bytes().len());
        }
        let arguments = distribution::kubelet_arguments(&command);
        read(&arguments.unwrap_or(command));
    }
    let snap = distribution::snap_variables(distribution::MICROK8S_ARGUMENTS);
    read(&distribution::arguments_file(bytes(3), 3, &snap));
    let text = Traced::in_file(bytes(3), 3, 0);
    for escapes in [Escapes::C, Escapes::Plain] {
        let words = unit_file::words(&text, escapes);
        for word in &words {
            traced(word, &files);
        }
        read(&words);
    }
    for program in [&rancher::K3S, &rancher::RKE2] {
        let words = unit_file::words(&text, Escapes::Plain);
        rancher::named_configuration(program, &words, &environment);
        let options = rancher::options(program, &[], &words, &environment);
        read(&options.flags(true));
    }
    others(bytes(0), bytes(3));
}

fn others(unit: &[u8], words: &[u8]) {
    let file = source("f", unit);
    for entry in ini::entries(&file.bytes) {
        for (word, span) in entry.words(&file) {
            inside(span, unit);
            assert_eq!(word, span.slice(unit));
        }
    }
    let text = String::from_utf8_lossy(words);
    version::of_os_release(&text);
    kubelet::Version::find(&text);
    drop(unit_file::with_name(&text, "kubelet@a.service"));
    distribution::can_be_kubelet(&text);
}

/// Every byte of the text that is said to stand in a file can stand there.
fn traced(text: &Traced, files: &[Source]) {
    let spots: Vec<_> = text.iter().filter_map(|it| it.1).collect();
    for spot in &spots {
        let file = files
            .get(spot.file as usize)
            .expect("a file that was given");
        assert!((spot.offset as usize) < file.bytes.len(), "{spot:?}");
    }
    if let Some(spot) = spots.last().copied() {
        let bytes = &files[spot.file as usize].bytes;
        possible(&place(files, spot).expect("it is there"), bytes);
    }
}

fn read(arguments: &[Traced]) {
    let read = flags::read_flags(arguments);
    for flag in &read.flags {
        printable(&flag.argument);
    }
    read.remarks
        .iter()
        .for_each(|it| printable(&words(&Remark::Kubelet(it.clone()))));
    let texts: Vec<String> = arguments.iter().map(|it| it.text().into_owned()).collect();
    let kubelet = kubelet::configured(None, &texts, None);
    kubelet
        .remarks
        .iter()
        .for_each(|it| printable(&words(&Remark::Kubelet(it.clone()))));
    distribution::of_process("kubelet", arguments);
}

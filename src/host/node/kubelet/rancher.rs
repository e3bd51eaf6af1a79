//! Says where settings come from that k3s and rke2 wrote themselves.

use crate::config::traced;
use crate::host::node::kubelet::reader::Reader;
use crate::kubelet::rancher::Program;
use crate::kubelet::start::Given;
use crate::kubelet::{Kubelet, Origin};

/// Says of settings that the program wrote into its own drop-in where they
/// come from: the program writes it anew at every start.
pub(super) fn look_behind(
    kubelet: &mut Kubelet,
    program: &Program,
    given: &Given,
    reader: &Reader<'_>,
) {
    let name = program.name;
    let Origin::File(place) = &kubelet.resolv_conf.origin else {
        if kubelet.resolv_conf.origin == Origin::BuiltIn {
            let path = crate::text::escaped(kubelet.resolv_conf.value.as_bytes());
            kubelet.remarks.push(format!(
                "{name} itself chooses resolvConf {path}: no setting names a file"
            ));
        }
        return;
    };
    if given.generated.as_deref() != Some(place.file.as_str()) {
        return;
    }
    let generated = place.file.clone();
    let Some(option) = given.options.resolv_conf() else {
        kubelet.remarks.push(format!(
            "{name} itself chose resolvConf at its start and writes {generated} anew each time: \
             resolv-conf in {} names another file",
            program.configuration
        ));
        return;
    };
    let place = option
        .spot(0)
        .and_then(|spot| traced::place(&reader.files, spot));
    if option.text() == kubelet.resolv_conf.value.as_str() {
        if let Some(place) = place {
            kubelet.resolv_conf.origin = Origin::File(place);
        }
    } else {
        let value = crate::text::escaped(option.bytes());
        let at = place.map_or_else(|| "its environment".to_owned(), |place| place.to_string());
        kubelet.remarks.push(format!(
            "{at} sets resolv-conf {value}, and {name} has not been started since: {generated} has another value"
        ));
    }
}

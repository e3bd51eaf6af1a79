//! Says where settings come from that k3s and rke2 wrote themselves.

use crate::config::traced;
use crate::host::node::kubelet::reader::Reader;
use crate::kubelet::rancher::Program;
use crate::kubelet::start::Given;
use crate::kubelet::{Found, Kubelet, Origin, Remark};

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
            kubelet.remarks.push(Remark::RancherChooses { name, path });
        }
        return;
    };
    if given.generated.as_deref() != Some(place.file.as_str()) {
        return;
    }
    let generated = place.file.clone();
    let Some(option) = given.options.resolv_conf() else {
        kubelet.remarks.push(Remark::RancherWrites {
            name,
            file: generated,
            configuration: program.configuration,
        });
        return;
    };
    let place = option
        .spot(0)
        .and_then(|spot| traced::place(&reader.files, spot));
    // One that does not run has written nothing for its next start.
    if matches!(kubelet.found, Found::Files { .. }) {
        kubelet.resolv_conf.value = option.text().into_owned();
    }
    if option.text() == kubelet.resolv_conf.value.as_str() {
        if let Some(place) = place {
            kubelet.resolv_conf.origin = Origin::File(place);
        }
    } else {
        kubelet.remarks.push(Remark::RancherNotRestarted {
            name,
            at: place,
            value: crate::text::escaped(option.bytes()),
            file: generated,
        });
    }
}

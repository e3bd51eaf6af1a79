//! Reads what decides the settings of a kubelet.

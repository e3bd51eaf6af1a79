//! The syntax of configuration files, nothing of their meaning.

pub mod corefile;
pub mod hosts;
pub mod manifest;

pub mod nsswitch_conf;
pub mod resolv_conf;
pub mod yaml;

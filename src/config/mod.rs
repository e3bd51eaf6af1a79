//! The syntax of configuration files, nothing of their meaning.

pub mod env_file;
pub mod hosts;
pub mod manifest;

pub mod nsswitch_conf;
pub mod resolv_conf;
pub mod traced;
pub mod unit_file;
pub mod yaml;

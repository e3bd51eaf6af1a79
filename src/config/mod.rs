//! The syntax of configuration files, nothing of their meaning.

pub mod corefile;
pub mod dnsmasq_conf;
pub mod env_file;
pub mod envoy_bootstrap;
pub mod glob;
pub mod haproxy_cfg;
pub mod hosts;
pub mod ini;
mod lexer;
pub mod made;
pub mod manifest;
pub mod named_conf;
pub mod nginx_conf;
pub mod openresolv_conf;
pub mod resolv_conf;
pub mod settings;
pub mod statements;
pub mod traced;
pub mod unbound_conf;
pub mod unit_file;
pub mod yaml;

module "web" {
  source     = "./modules/web"
  dns_policy = var.policy
}

module "zone" {
  source     = "./modules/zone"
  dns_policy = "allow-all"
}

module "network" {
  source     = "./modules/network"
  dns_policy = "default"
}

module "web" {
  source       = "./modules/web"
  image        = var.image
  dns_policy   = "ClusterFrist"
  host_network = true
}

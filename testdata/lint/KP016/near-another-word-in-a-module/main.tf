module "y" {
  source     = "./y"
  dns_policy = "ClusterWide"
  containers = [{ name = "a", image = "b" }]
}

"""Slice resources of GKE (`accelerator.gke.io/v1beta1`): which 4 x 4 x 4 cubes are stitched together for a job."""

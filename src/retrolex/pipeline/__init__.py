"""From a recipe to a measured search engine, stage by stage."""

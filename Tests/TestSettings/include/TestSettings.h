// Linking this target limits how many tests run concurrently. See TestSettings.c.

//! A program whose launches go into batch windows.

pub(crate) use crate::support::Setup;
use crate::support::{Scripted, add, info, launch, settings};
use kreplay_engine::{Counters, Settings, WindowMode};
use std::sync::Arc;

pub(crate) fn batch(passes: u32) -> Settings {
    Settings { window: WindowMode::Batch, ..settings(passes) }
}

pub(crate) fn setup(settings: Settings, counters: Option<Arc<Scripted>>) -> Setup {
    Setup::new(settings, counters.map(|counters| counters as Arc<dyn Counters>))
}

impl Setup {
    pub(crate) fn launch(&self, key: u64) {
        launch(&self.engine, &info(key), 0, &add(self.region, 1));
    }
}

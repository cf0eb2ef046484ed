//! Figures that are kept are read back as they were computed.

use crate::scene::Scene;
use tophalf::analysis::RunSummary;

#[test]
fn the_figures_of_every_scene_are_read_back_as_they_are() {
    for scene in [Scene::hard(), Scene::threaded(), Scene::forced(), Scene::zram()] {
        for hops in [None, Some(300)] {
            let run = Scene { windows: 3, hops, ..scene.clone() }.summary("one", "6.18");
            let kept = postcard::to_extend(&run, Vec::new()).unwrap();
            assert_eq!(postcard::from_bytes::<RunSummary>(&kept).unwrap(), run);
            assert!(postcard::from_bytes::<RunSummary>(&kept[..kept.len() - 1]).is_err());
            let json = serde_json::to_string(&run).unwrap();
            assert_eq!(serde_json::from_str::<RunSummary>(&json).unwrap(), run, "as scripts see them too");
        }
    }
}

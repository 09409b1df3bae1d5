//! The catalog service.

use tonic::{Request, Response, Status};

use super::errors::Fault;
use crate::games::{OTHER_GAME, catalogs};
use crate::proto;
use crate::proto::catalog_service_server::CatalogService;
use crate::proto::game_option::Kind;
use crate::rules::{Catalog, CatalogCard, CatalogItem, CatalogOption, OptionKind};

/// The catalogs of all games in the registry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Catalogs;

#[tonic::async_trait]
impl CatalogService for Catalogs {
    async fn list_games(
        &self,
        _request: Request<proto::ListGamesRequest>,
    ) -> Result<Response<proto::ListGamesResponse>, Status> {
        let games = catalogs().into_iter().map(write_summary).collect();
        Ok(Response::new(proto::ListGamesResponse { games }))
    }

    async fn get_game(
        &self,
        request: Request<proto::GetGameRequest>,
    ) -> Result<Response<proto::GetGameResponse>, Status> {
        let id = &request.get_ref().game_id;
        let catalog = catalogs().into_iter().find(|catalog| catalog.id == id);
        let catalog = catalog.ok_or_else(|| Fault::GAME_NOT_FOUND.status())?;
        Ok(Response::new(write_catalog(catalog)))
    }
}

fn write_summary(catalog: &Catalog) -> proto::GameSummary {
    proto::GameSummary {
        game_id: catalog.id.to_owned(),
        name: catalog.name.to_owned(),
        summary: catalog.summary.to_owned(),
        rules_version: catalog.rules_version,
        min_seats: (*catalog.seats.start()).into(),
        max_seats: (*catalog.seats.end()).into(),
    }
}

fn write_catalog(catalog: &Catalog) -> proto::GetGameResponse {
    let entries = |items: &[CatalogItem]| {
        let entry = |item: &CatalogItem| proto::CatalogEntry {
            id: item.id.to_owned(),
            text: item.text.to_owned(),
        };
        items.iter().map(entry).collect()
    };
    proto::GetGameResponse {
        summary: Some(write_summary(catalog)),
        options: catalog.options.iter().map(write_option).collect(),
        cards: catalog.cards.iter().map(write_card).collect(),
        actions: entries(&catalog.actions),
        // Any game can be sent an action of another one.
        refusals: entries(&[catalog.refusals.as_slice(), &[OTHER_GAME.into()]].concat()),
        achievements: entries(&catalog.achievements),
        outcomes: entries(&catalog.outcomes),
    }
}

fn write_option(option: &CatalogOption) -> proto::GameOption {
    let kind = match &option.kind {
        OptionKind::Switch => Kind::Switch(proto::SwitchOption {}),
        OptionKind::Number { range, default } => Kind::Number(proto::NumberOption {
            min: *range.start(),
            max: *range.end(),
            default_value: *default,
        }),
        OptionKind::Seat => Kind::Seat(proto::SeatOption {}),
        OptionKind::Cards => Kind::Cards(proto::CardsOption {}),
    };
    proto::GameOption {
        name: option.name.to_owned(),
        text: option.text.to_owned(),
        kind: Some(kind),
    }
}

fn write_card(card: &CatalogCard) -> proto::GameCard {
    let CatalogCard { id, name, copies, kind, color, rank, suits, text, set, source } =
        card.clone();
    proto::GameCard { card_id: id, name, copies, kind, color, rank, suits, text, set, source }
}

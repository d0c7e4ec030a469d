//! Sequences and mappings in brackets.

use super::{Event, Properties, State, empty};
use crate::yaml::parse::scan::{Kind, SyntaxError};

impl<'a> super::Events<'a> {
    pub(super) fn flow_sequence_entry(&mut self, first: bool) -> Result<Event<'a>, SyntaxError> {
        let mut token = self.peek()?;
        if token.kind == Kind::FlowSequenceEnd {
            return Ok(self.close());
        }
        if !first {
            if token.kind != Kind::FlowEntry {
                let at = token.start;
                return Self::fault("did not find expected ',' or ']'", at);
            }
            token = self.skip()?;
        }
        let start = token.start;
        match token.kind {
            Kind::Key => {
                self.scanner.take();
                self.state = State::PairKey;
                Ok(Event::Open { mapping: true, properties: Properties::default(), start })
            }
            Kind::FlowSequenceEnd => Ok(self.close()),
            _ => {
                self.states.push(State::FlowSequenceEntry);
                self.node(false, false)
            }
        }
    }

    pub(super) fn pair_key(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let end = token.end;
        if matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
            // Quirk: go-yaml skips the token.
            self.scanner.take();
            self.state = State::PairValue;
            return Ok(empty(end, false));
        }
        self.states.push(State::PairValue);
        self.node(false, false)
    }

    pub(super) fn pair_value(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let mut at = token.start;
        if token.kind == Kind::Value {
            let token = self.skip()?;
            at = token.start;
            if !matches!(token.kind, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                self.states.push(State::PairEnd);
                return self.node(false, false);
            }
        }
        self.state = State::PairEnd;
        Ok(empty(at, true))
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<Event<'a>, SyntaxError> {
        let mut token = self.peek()?;
        if token.kind == Kind::FlowMappingEnd {
            return Ok(self.close());
        }
        if !first {
            if token.kind != Kind::FlowEntry {
                let at = token.start;
                return Self::fault("did not find expected ',' or '}'", at);
            }
            token = self.skip()?;
        }
        match token.kind {
            Kind::Key => {
                let token = self.skip()?;
                let at = token.start;
                if matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
                    self.state = State::FlowMappingValue;
                    return Ok(empty(at, false));
                }
                self.states.push(State::FlowMappingValue);
                self.node(false, false)
            }
            Kind::FlowMappingEnd => Ok(self.close()),
            _ => {
                self.states.push(State::FlowMappingEmptyValue);
                self.node(false, false)
            }
        }
    }

    pub(super) fn flow_mapping_value(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let mut at = token.start;
        if token.kind == Kind::Value {
            let token = self.skip()?;
            at = token.start;
            if !matches!(token.kind, Kind::FlowEntry | Kind::FlowMappingEnd) {
                self.states.push(State::FlowMappingKey);
                return self.node(false, false);
            }
        }
        self.state = State::FlowMappingKey;
        Ok(empty(at, true))
    }
}

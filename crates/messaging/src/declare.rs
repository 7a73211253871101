//! Telling the broker of the exchange and the queues. Declaring what exists changes nothing. Where the platform makes them
//! (`WAYBILL_BROKER__DECLARE`), it is only looked whether they are there.

use events::{EXCHANGE, queues};
use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{FieldTable, ShortString};
use lapin::{Connection, ErrorKind, ExchangeKind};

use crate::queue::Kind;
use crate::{BrokerError, Queue};

/// Who makes the exchange and the shared queues. A queue per instance is always made by its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Us,
    Platform,
}

/// The exchange and every shared queue, before the first publish on a connection.
pub(crate) async fn topology(connection: &Connection, maker: Maker) -> Result<(), BrokerError> {
    exchange(connection, maker).await?;
    for shared in queues::ALL {
        queue(connection, &Queue::shared(shared), maker).await?;
    }
    Ok(())
}

/// A queue, its bindings and its dead letters. Returns the queue's name, which the broker gives to a
/// queue per instance.
pub(crate) async fn queue(
    connection: &Connection,
    queue: &Queue,
    maker: Maker,
) -> Result<ShortString, BrokerError> {
    let name = match queue.kind {
        Kind::Shared if maker == Maker::Platform => {
            count(connection, queue.name).await?;
            return Ok(queue.name.into());
        }
        Kind::Shared => {
            let dead_letters = queue.dead_letters();
            durable(connection, &dead_letters, queue.options(), Queue::dead_letter_arguments()).await?;
            durable(connection, queue.name, queue.options(), queue.arguments()).await?;
            queue.name.into()
        }
        Kind::PerInstance => {
            let channel = connection.create_channel().await?;
            channel.queue_declare("".into(), queue.options(), queue.arguments()).await?.name().clone()
        }
    };
    let channel = connection.create_channel().await?;
    for binding in queue.bindings.iter().cloned().chain(queue.renewal_key()) {
        channel
            .queue_bind(
                name.clone(),
                EXCHANGE.into(),
                binding.into(),
                QueueBindOptions::default(),
                FieldTable::default(),
            )
            .await?;
    }
    Ok(name)
}

pub(crate) async fn exchange(connection: &Connection, maker: Maker) -> Result<(), BrokerError> {
    let channel = connection.create_channel().await?;
    let passive = maker == Maker::Platform;
    let options = ExchangeDeclareOptions { durable: true, passive, ..ExchangeDeclareOptions::default() };
    Ok(channel.exchange_declare(EXCHANGE.into(), ExchangeKind::Topic, options, FieldTable::default()).await?)
}

/// The messages that are ready in a queue that exists.
pub(crate) async fn count(connection: &Connection, name: &str) -> Result<u32, BrokerError> {
    let channel = connection.create_channel().await?;
    let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    let count = channel.queue_declare(name.into(), passive, FieldTable::default()).await?.message_count();
    channel.close(200, "counted".into()).await?;
    Ok(count)
}

/// A queue that exists with other limits (from before an upgrade) serves as well: it is reported, and used as it is.
/// The refusal closes the channel, so each queue is declared on its own.
async fn durable(
    connection: &Connection,
    name: &str,
    options: QueueDeclareOptions,
    arguments: FieldTable,
) -> Result<(), BrokerError> {
    let channel = connection.create_channel().await?;
    match channel.queue_declare(name.into(), options, arguments).await {
        Ok(_) => Ok(()),
        Err(error) if differs(&error) => {
            tracing::warn!(queue = name, "the queue exists with other arguments; it is used as it is");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn differs(error: &lapin::Error) -> bool {
    match error.kind() {
        ErrorKind::ProtocolError(error) => {
            *error.kind() == AMQPErrorKind::Soft(AMQPSoftError::PRECONDITIONFAILED)
        }
        _ => false,
    }
}

//! Declares the exchange and the queues. Declaring an existing one changes nothing. If the platform creates them
//! (`WAYBILL_BROKER__DECLARE`), this only checks that they exist.

use events::{EXCHANGE, queues};
use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{FieldTable, ShortString};
use lapin::{Connection, ErrorKind, ExchangeKind};

use crate::queue::Kind;
use crate::{BrokerError, Queue};

/// Who creates the exchange and the shared queues. Each instance always creates its own queue per instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declares {
    Us,
    Platform,
}

/// Declares the exchange and every shared queue, before the first publish on a connection.
pub(crate) async fn topology(connection: &Connection, maker: Declares) -> Result<(), BrokerError> {
    exchange(connection, maker).await?;
    for shared in queues::ALL {
        queue(connection, &Queue::shared(shared), maker).await?;
    }
    Ok(())
}

/// Declares a queue, its bindings and its dead letters. Returns the queue's name; the broker generates the name of a
/// queue per instance.
pub(crate) async fn queue(
    connection: &Connection,
    queue: &Queue,
    maker: Declares,
) -> Result<ShortString, BrokerError> {
    let name = match queue.kind {
        Kind::Shared if maker == Declares::Platform => {
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

pub(crate) async fn exchange(connection: &Connection, maker: Declares) -> Result<(), BrokerError> {
    let channel = connection.create_channel().await?;
    let passive = maker == Declares::Platform;
    let options = ExchangeDeclareOptions { durable: true, passive, ..ExchangeDeclareOptions::default() };
    Ok(channel.exchange_declare(EXCHANGE.into(), ExchangeKind::Topic, options, FieldTable::default()).await?)
}

/// The number of ready messages in an existing queue.
pub(crate) async fn count(connection: &Connection, name: &str) -> Result<u32, BrokerError> {
    let channel = connection.create_channel().await?;
    let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    let count = channel.queue_declare(name.into(), passive, FieldTable::default()).await?.message_count();
    channel.close(200, "counted".into()).await?;
    Ok(count)
}

/// A queue with other arguments, from an older release, is used as it is, with a warning. The broker's refusal closes
/// the channel, so each queue is declared on its own channel.
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
            tracing::warn!(queue = name, "queue exists with other arguments; using it unchanged");
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

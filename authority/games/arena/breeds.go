package arena

// breed is what all enemies of a kind have in common.
type breed struct {
	health int32
}

var breeds = [enemyKinds]breed{
	EnemyGrub:    {health: 30},
	EnemySpitter: {health: 40},
	EnemyBrute:   {health: 120},
}
